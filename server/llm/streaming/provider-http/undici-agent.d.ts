// Types of undici's file with the connection pool. The package declares types only for its main entry.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}
