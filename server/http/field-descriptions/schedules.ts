// Descriptions for the API reference: schedules and their occurrences.
import type { z } from 'zod'
import type {
  CheckOutcome,
  CreateScheduleBody,
  HookUrl,
  NamedFailure,
  Occurrence,
  PatchScheduleBody,
  Schedule,
  ScheduleLimits,
  SchedulePreview,
  ScheduleWatch,
  ScheduleWhen,
  StartedOccurrence,
} from '../../protocol/schedules/schedule.ts'
import { type Descriptions, type FieldsOf, within } from './describe-fields.ts'
import { CREATED } from './shared.ts'

const when = {
  at: 'Once, at this time. At most 60 seconds in the past.',
  cron: 'Five fields: minute, hour, day of month, month, day of week, with `* , - /` and names of three letters. If both days are restricted, either matches.',
  tz: 'The time zone of the pattern, such as `Europe/Berlin`. Default: that of your preferences.',
  exact: 'Starts at the full minute. Otherwise patterns for minute 0 are spread over the minute.',
  every: 'Again and again from now on: a number and `m`, `h` or `d`, at most `30d`.',
  hook: 'When another program sends a request to its hook.',
} satisfies FieldsOf<ScheduleWhen>

const watch = {
  page: 'The address of a page, whose readable text is compared.',
  files: 'A glob pattern for files of the project.',
  first: 'Whether the first look, which has nothing to compare with, also starts a run.',
} satisfies FieldsOf<ScheduleWatch>

const limits = {
  cost: 'The cost, in any currency.',
  tokens: 'The tokens of its model calls.',
  minutes: 'Minutes of work, without waiting for a person.',
} satisfies FieldsOf<ScheduleLimits>

const CHECK = {
  file: 'A path or glob pattern in the project.',
  is: 'For files: `exists`, `changed` or `unchanged` by the run. For a tool: `succeeded`, `called` or `not_called`.',
  contains: 'A text that the file contains.',
  pointer: 'A JSON pointer into the file.',
  equals: 'The value at the pointer.',
  tool: 'The name of a tool.',
  at_least: 'How often. Default: once.',
  answer: '`contains`: a text; `matches`: a pattern in the syntax of RE2.',
  value: 'The text or pattern.',
  sent: '`channel:` and a name: that channel accepted a message of the run within 60 seconds.',
  command: 'A command that runs in the project as the tool `exec` does.',
  exits: 'The exit code of the command.',
}

const body = {
  name: 'The name of the schedule, and of its conversation.',
  text: 'What is sent to the model each time.',
  project_id: 'The project in which it works. Null: none.',
  model: 'The model. Null: that of the project, else the default model.',
  skills: 'Skills whose instructions go with the message.',
  when: within('When it is due: exactly one kind.', when),
  conversation: '`same` (default): one conversation for all occurrences; `new`: one for each.',
  quiet: 'Offers the model a tool that ends a run without telling you.',
  watch: within('What is looked at first: without a change, no model is called.', watch),
  checks: within('What is checked after each run, on what is stored.', CHECK),
  catch_up:
    'What happens with times that were missed while the server was down: `one` (default): the newest runs once; `none`: none runs.',
  overlap:
    'While an occurrence is not finished: `skip` the next one, or `queue` it. Default: `skip`; for hooks `queue`.',
  limits: within('What one run may use. At a limit, it ends.', limits),
  approval: 'The approval mode of its runs. Null: that of new conversations.',
  approval_deadline: 'Seconds after which requests for a decision expire. Null: never.',
  notify:
    'Who is told of each end: `push`, or `channel:` and a name. Null: through the list `ask` of the preferences; empty: nobody.',
  enabled: 'Whether it is on. Default: true.',
  hook_secret:
    'A secret `whsec_…` with which requests to the hook must be signed. Null removes it.',
} satisfies FieldsOf<CreateScheduleBody>

const namedFailure = {
  reason: 'Why, by its name in the list of failures.',
  params: 'The values in its text.',
} satisfies FieldsOf<NamedFailure>

const outcome = {
  check: within('The check.', CHECK),
  passed: 'Whether it passed.',
  detail: 'What was found.',
  failure: 'Why it could not be evaluated, where `detail` is the text of a failure.',
} satisfies FieldsOf<CheckOutcome>

const occurrence = {
  id: 'Identifies the occurrence.',
  schedule_id: 'The schedule.',
  due_at: 'When it was due.',
  state:
    '`running`; `waiting` for a person, an earlier occurrence or a busy conversation; `done`; `quiet`: nothing to report; `unmet`: a check failed or a request expired; `failed`; `stopped`; `missed` while the server was down; `skipped`.',
  reason: 'Why it ended in this way. Null: no reason is needed.',
  detail: 'More about the reason, for a person, in English. Null: nothing.',
  failure: 'The failure whose text `detail` is, for texts in other languages.',
  manual: 'Whether a person started it.',
  count:
    'How many due times or requests it stands for: more than one for the oldest of many missed ones, and for requests that were skipped in a row.',
  run_id: 'The run. Null: none was started.',
  conversation_id: 'The conversation of the run.',
  message_id: 'The answer of the run.',
  checks: within('What each check found.', outcome),
  cost: 'The cost of the run by currency. Null: no run has ended.',
  started_at: 'When the run started. Null: it has not.',
  ended_at: 'When it ended. Null: it has not.',
} satisfies FieldsOf<Occurrence>

const { hook_secret: _secret, ...shown } = body

/** By the id of a schema in the reference. */
export const SCHEDULE_DESCRIPTIONS = {
  ScheduleWhen: when,
  ScheduleWatch: watch,
  ScheduleLimits: limits,
  ScheduleCheck: CHECK,
  CreateSchedule: body,
  PatchSchedule: body satisfies FieldsOf<PatchScheduleBody>,
  NamedFailure: namedFailure,
  CheckOutcome: outcome,
  Occurrence: occurrence,
  Schedule: {
    ...shown,
    id: 'Identifies the schedule.',
    conversation_id: 'With `same`, its conversation. Null: there is none yet.',
    watched_at: 'When it last looked. Null: never.',
    watch_failures: 'Looks in a row that failed. Each third is an occurrence that failed.',
    next_at: 'When it is due next. Null: never.',
    last: within('Its newest occurrence. Null: none.', occurrence),
    failures: 'Occurrences in a row that failed.',
    disabled_reason:
      'Why the server switched it off: `failures`, `quota`, `model` (which is gone) or `owner` (who may not have schedules). Null: a person did, or it is on.',
    hook_url: 'The address of its hook, only when it was made just now.',
    signed: 'Whether requests to its hook must be signed.',
    created_by_run: 'The run whose tool made it. Null: a person did.',
    tools: 'The only tools that its runs may use. Null: all.',
    created_at: CREATED,
  } satisfies FieldsOf<Schedule>,
  SchedulePreview: { times: 'The next due times, in order.' } satisfies FieldsOf<
    z.infer<typeof SchedulePreview>
  >,
  StartedOccurrence: { occurrence_id: 'The occurrence.' } satisfies FieldsOf<
    z.infer<typeof StartedOccurrence>
  >,
  HookUrl: { hook_url: 'The address, which no later response contains.' } satisfies FieldsOf<
    z.infer<typeof HookUrl>
  >,
} satisfies Readonly<Record<string, Descriptions>>
