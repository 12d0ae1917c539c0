// Descriptions for the API reference: apps.
import type { z } from 'zod'
import type {
  AppLibrary,
  OpenAppBody,
  PatchAppBody,
  RunningApp,
} from '../../protocol/projects/app.ts'
import type { FieldsOf } from './describe-fields.ts'

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
  AppLibrary: {
    name: 'The name of the package, by which components import it.',
    version: 'The version that this server has.',
  } satisfies FieldsOf<AppLibrary>,
}
