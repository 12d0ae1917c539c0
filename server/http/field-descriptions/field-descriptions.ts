// The descriptions of all fields in the API reference. They are not in `protocol`, because the page would download them.
import { ACCOUNT_DESCRIPTIONS } from './accounts.ts'
import { ADMINISTRATION_DESCRIPTIONS } from './administration.ts'
import { CONVERSATION_DESCRIPTIONS } from './conversations.ts'
import type { Descriptions } from './describe-fields.ts'
import { INSPECTION_DESCRIPTIONS } from './inspection.ts'
import { MESSAGE_DESCRIPTIONS } from './messages.ts'
import { MODEL_DESCRIPTIONS } from './models.ts'
import { OPENAI_DESCRIPTIONS } from './openai.ts'
import { PROGRAM_DESCRIPTIONS } from './programs.ts'
import { PROJECT_DESCRIPTIONS } from './projects.ts'
import { RUN_DESCRIPTIONS } from './runs.ts'
import { SECOND_FACTOR_DESCRIPTIONS } from './second-factors.ts'
import { SHARED_DESCRIPTIONS } from './shared.ts'

/** By the id of a schema in the reference. */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, Descriptions>> = {
  ...SHARED_DESCRIPTIONS,
  ...ACCOUNT_DESCRIPTIONS,
  ...SECOND_FACTOR_DESCRIPTIONS,
  ...ADMINISTRATION_DESCRIPTIONS,
  ...CONVERSATION_DESCRIPTIONS,
  ...MESSAGE_DESCRIPTIONS,
  ...RUN_DESCRIPTIONS,
  ...INSPECTION_DESCRIPTIONS,
  ...PROJECT_DESCRIPTIONS,
  ...MODEL_DESCRIPTIONS,
  ...PROGRAM_DESCRIPTIONS,
  ...OPENAI_DESCRIPTIONS,
}
