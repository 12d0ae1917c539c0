// Types of the file of undici that has its connection pool; the package declares types of its whole only.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}
