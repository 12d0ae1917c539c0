// `npm run doctor`: looks at everything that a start needs and says what to do about what is wrong.

import type { DatabaseSettings } from '../db/database.ts'
import type { EmbeddingSettings } from '../knowledge/embeddings.ts'
import type { ModelSettings } from '../protocol/catalog.ts'
import { checkDatabase } from './check-database.ts'
import { checkEmbeddings } from './check-embeddings.ts'
import { checkProviders } from './check-providers.ts'
import { checkPython, checkShell, type PythonHabits } from './check-sandbox.ts'
import { checkFolder, checkNode, checkPage } from './check-surroundings.ts'
import type { Finding } from './finding.ts'

/** What the doctor is told of the configuration, as plain values. */
export interface Patient {
  database: DatabaseSettings
  dataDirectory: string
  workspaceRoot: string
  /** Folder of the built page. */
  webRoot: string
  models: readonly ModelSettings[]
  /** null: none are configured. */
  embeddings: EmbeddingSettings | null
  python: PythonHabits
  shell: { enabled: boolean; network: boolean | 'host' }
}

/** All findings, in the order in which they are printed. Changes nothing; never throws. */
export async function examine(patient: Patient): Promise<Finding[]> {
  const groups = await Promise.all([
    checkNode(),
    checkFolder('data folder', patient.dataDirectory),
    checkDatabase(patient.database),
    checkFolder('workspaces', patient.workspaceRoot),
    checkPage(patient.webRoot),
    checkProviders(patient.models),
    checkEmbeddings(patient.embeddings, patient.database),
    checkPython(patient.python, patient.dataDirectory),
    checkShell(patient.shell),
  ])
  return groups.flat()
}
