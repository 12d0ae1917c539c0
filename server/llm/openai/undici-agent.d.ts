// Types of the file of undici that has its connection pool; the package declares types of its whole only.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  // biome-ignore lint/style/noDefaultExport: the file has no other export
  export default Agent
}
