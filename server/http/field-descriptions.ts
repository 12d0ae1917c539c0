// The descriptions of all fields in the API reference. They are not in `protocol`, because the page would download them.
import { ACCOUNT_DESCRIPTIONS } from './field-descriptions/accounts.ts'
import { ADMINISTRATION_DESCRIPTIONS } from './field-descriptions/administration.ts'
import { ANTHROPIC_DESCRIPTIONS } from './field-descriptions/anthropic.ts'
import { APP_DESCRIPTIONS } from './field-descriptions/apps.ts'
import { CONVERSATION_DESCRIPTIONS } from './field-descriptions/conversations.ts'
import type { Descriptions } from './field-descriptions/describe-fields.ts'
import { GRANT_DESCRIPTIONS } from './field-descriptions/grants.ts'
import { INSPECTION_DESCRIPTIONS } from './field-descriptions/inspection.ts'
import { MESSAGE_DESCRIPTIONS } from './field-descriptions/messages.ts'
import { MODEL_DESCRIPTIONS } from './field-descriptions/models.ts'
import { OPENAI_DESCRIPTIONS } from './field-descriptions/openai.ts'
import { PROGRAM_DESCRIPTIONS } from './field-descriptions/programs.ts'
import { PROJECT_DESCRIPTIONS } from './field-descriptions/projects.ts'
import { RECEIPT_DESCRIPTIONS } from './field-descriptions/receipts.ts'
import { RUN_DESCRIPTIONS } from './field-descriptions/runs.ts'
import { SCHEDULE_DESCRIPTIONS } from './field-descriptions/schedules.ts'
import { SECOND_FACTOR_DESCRIPTIONS } from './field-descriptions/second-factors.ts'
import { SHARED_DESCRIPTIONS } from './field-descriptions/shared.ts'
import { SKILL_DESCRIPTIONS } from './field-descriptions/skills.ts'

/** By the id of a schema in the reference. */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, Descriptions>> = {
  ...SHARED_DESCRIPTIONS,
  ...ACCOUNT_DESCRIPTIONS,
  ...SECOND_FACTOR_DESCRIPTIONS,
  ...ADMINISTRATION_DESCRIPTIONS,
  ...CONVERSATION_DESCRIPTIONS,
  ...MESSAGE_DESCRIPTIONS,
  ...RUN_DESCRIPTIONS,
  ...RECEIPT_DESCRIPTIONS,
  ...GRANT_DESCRIPTIONS,
  ...SCHEDULE_DESCRIPTIONS,
  ...INSPECTION_DESCRIPTIONS,
  ...PROJECT_DESCRIPTIONS,
  ...SKILL_DESCRIPTIONS,
  ...APP_DESCRIPTIONS,
  ...MODEL_DESCRIPTIONS,
  ...PROGRAM_DESCRIPTIONS,
  ...OPENAI_DESCRIPTIONS,
  ...ANTHROPIC_DESCRIPTIONS,
}
