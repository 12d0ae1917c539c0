// Descriptions for the API reference: apps.
import type { z } from 'zod'
import type {
  McpApp,
  McpAppCall,
  McpAppCallBody,
  McpAppCallDone,
  McpAppCallWaiting,
  McpAppContextBody,
  McpAppCsp,
  McpAppDomainList,
  McpAppDomains,
  McpAppDomainsBody,
  McpAppPermissions,
} from '../../protocol/mcp-app.ts'
import type {
  AppLibrary,
  OpenAppBody,
  PatchAppBody,
  RunningApp,
} from '../../protocol/projects/app.ts'
import { type FieldsOf, within } from './describe-fields.ts'

const csp = {
  connectDomains: 'Origins for requests. Absent: none.',
  resourceDomains: 'Origins for scripts, styles, pictures, fonts and films. Absent: none.',
  frameDomains: 'Origins for frames, which are never allowed. Absent: none.',
  baseUriDomains: 'Origins for the base of addresses, which are never allowed. Absent: none.',
} satisfies FieldsOf<McpAppCsp>

const permissions = {
  camera: 'The camera. Absent: not asked for.',
  microphone: 'The microphone. Absent: not asked for.',
  geolocation: 'The place. Absent: not asked for.',
  clipboardWrite: 'Writing to the clipboard. Absent: not asked for.',
} satisfies FieldsOf<McpAppPermissions>

/** By the id of a schema in the reference. */
export const APP_DESCRIPTIONS = {
  OpenApp: {
    project_id: 'The project of the file.',
    path: 'The path of the file in the project. Files of its folder, and below, can be loaded by relative paths.',
    checkpoint_id: 'Opens the file as it was before this change. Null: as it is.',
  } satisfies FieldsOf<OpenAppBody>,
  App: {
    id: 'The id of the open app.',
    url: 'The address for a frame, of another origin. Null: the server has no origin for apps.',
    kind: '`html`, `svg`, `component` (React), `diagram` (Mermaid) or `document` (Markdown), by the name of the file.',
    network: 'Whether you have allowed the app to use the network.',
    tainted: 'Whether text from outside is in the file, or in a file of its folder.',
    expires_at: 'When the address ends. It ends earlier with the session or key that opened it.',
  } satisfies FieldsOf<RunningApp>,
  PatchApp: {
    network: 'Whether the app may use the network.',
  } satisfies FieldsOf<z.infer<typeof PatchAppBody>>,
  McpApp: {
    html: 'The document. It is text from outside.',
    csp: within('What the app asks for. Origins that could not be allowed are left out.', csp),
    permissions: within(
      'Device features that the app would like to use. None is given.',
      permissions,
    ),
    sha256: 'The SHA-256 of the document in hexadecimal digits.',
    domains_allowed:
      'Whether you have allowed this server exactly the domains of `connectDomains` and `resourceDomains`. `false` if there are none.',
    url: 'The address of the frame for the document, with what is allowed. Null: the server has no origin for apps.',
  } satisfies FieldsOf<McpApp>,
  McpAppCsp: csp,
  McpAppPermissions: permissions,
  AllowMcpAppDomains: {
    domains: 'The origins: `connectDomains` and `resourceDomains` of the app together.',
    allowed: 'Whether apps of the server that ask for exactly these may reach them.',
  } satisfies FieldsOf<z.infer<typeof McpAppDomainsBody>>,
  McpAppDomains: {
    domains: 'The origins, each once, in order.',
    allowed: 'Whether they are allowed now.',
  } satisfies FieldsOf<z.infer<typeof McpAppDomains>>,
  CallFromMcpApp: {
    name: "The tool's own name at the server of the app.",
    arguments: 'The arguments, at most 200,000 characters as JSON text. Default: none.',
  } satisfies FieldsOf<z.infer<typeof McpAppCallBody>>,
  McpAppCallDone: {
    result: 'The result as the MCP server sent it, with `content` and `isError`.',
  } satisfies FieldsOf<z.infer<typeof McpAppCallDone>>,
  McpAppCallWaiting: {
    approval_id: 'Its id in `GET /api/approvals`.',
    id_ref: 'The id of the call. Send it with your decision.',
  } satisfies FieldsOf<McpAppCallWaiting>,
  McpAppCall: {
    state: '`void`: the call was withdrawn, and did not run.',
    approval_id: 'Its id in `GET /api/approvals` while it waits. Null: it does not wait.',
    result: 'The result as the MCP server sent it. Null: there is none yet.',
  } satisfies FieldsOf<McpAppCall>,
  McpAppContext: {
    text: 'The text, which the next message gives to the model. Empty: nothing.',
  } satisfies FieldsOf<z.infer<typeof McpAppContextBody>>,
  McpAppDomainList: {
    items: within('What you have allowed.', {
      domains: 'The origins, each once, in order.',
      allowed_at: 'When you allowed them.',
    }),
  } satisfies FieldsOf<McpAppDomainList>,
  AppLibrary: {
    name: 'The name of the package, by which components import it.',
    version: 'The version that this server has.',
  } satisfies FieldsOf<AppLibrary>,
}
