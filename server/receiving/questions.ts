// Questions that a tool asks the person of a run: a form with one field is answered by the person's next message in the chat.
import { isLanguage, LANGUAGES } from '../../locales/languages.ts'
import type { Database } from '../db/database.ts'
import type { ChatPlace, IncomingRow } from '../db/repositories/deliveries/receiving.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { filled, localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import { RunId } from '../protocol/ids.ts'
import type { InputAnswerBody, InputField, PendingInput } from '../protocol/runs/input.ts'
import { actorIn, doorOf } from './actor.ts'
import { contentOf, type IncomingContent } from './content.ts'
import type { PersonActs } from './person-acts.ts'

const MAX_CHOICES_SHOWN = 50

/** What asking and answering need. */
export interface QuestionDependencies extends Pick<PersonActs, 'answer'> {
  database: Database
  store: Store
}

/** Under what the question of a run is known in its chat. */
export const questionReference = (runId: RunId, idRef: string): string => `input:${runId}:${idRef}`

/** The one field that a text can answer; null for any other question. */
export function askedField({
  mode,
  schema,
}: Pick<PendingInput, 'mode' | 'schema'>): { name: string; field: InputField } | null {
  const [only, ...others] = Object.entries(schema?.properties ?? {})
  if (mode !== 'form' || only === undefined || others.length > 0) return null
  const [name, field] = only
  return { name, field }
}

type Texts = ReturnType<typeof localeTexts<'messages'>>['chat']

/** Says how the field is answered in the chat. */
export function answerHint(
  { name, field }: { name: string; field: InputField },
  texts: Texts,
): string {
  const label = field.title ?? name
  const choices = choicesOf(field)
    .slice(0, MAX_CHOICES_SHOWN)
    .map(({ title }) => title)
    .join(', ')
  const how =
    field.type === 'boolean'
      ? filled(texts.answerYesNo, { field: label, yes: texts.yes, no: texts.no })
      : field.type === 'array'
        ? filled(texts.answerSeveral, { field: label, choices })
        : choices !== ''
          ? filled(texts.answerChoice, { field: label, choices })
          : filled(texts.answerText, { field: label })
  return `${how} ${texts.answerReject}`
}

function choicesOf(field: InputField): { const: string; title: string }[] {
  if (field.type === 'array') return field.items.anyOf
  return 'oneOf' in field ? field.oneOf : []
}

/** The words for yes and no of all languages: people do not always answer in the language of the question. */
const WORDS = new Map<string, boolean>()
function saidYes(text: string): boolean | undefined {
  if (WORDS.size === 0)
    for (const language of Object.keys(LANGUAGES).filter(isLanguage)) {
      const { chat } = localeTexts(language, 'messages')
      WORDS.set(chat.yes.toLowerCase(), true).set(chat.no.toLowerCase(), false)
    }
  return WORDS.get(text.toLowerCase().replace(/[.!。！]$/, ''))
}

/** What a text says about a field; undefined if that is not one of the values. */
function valueIn(
  field: InputField,
  text: string,
): string | number | boolean | string[] | undefined {
  if (field.type === 'boolean') return saidYes(text)
  if (field.type === 'integer' || field.type === 'number') {
    const number = Number(text.replace(',', '.'))
    return text === '' || !Number.isFinite(number) ? undefined : number
  }
  const choices = choicesOf(field)
  const chosen = (said: string): string | undefined =>
    choices.find((one) =>
      [one.const, one.title].some((name) => name.toLowerCase() === said.toLowerCase()),
    )?.const
  if (field.type === 'array') {
    const values = text
      .split(/[,;、，\n]/)
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map(chosen)
    return values.includes(undefined) ? undefined : values.filter((one) => one !== undefined)
  }
  return choices.length === 0 ? text : chosen(text)
}

/** A message that may be an answer: the person's own words, with nothing beside them. */
const isPlain = ({ isOutside, quoted, files, text }: IncomingContent): boolean =>
  !isOutside && quoted === '' && files.length === 0 && text.trim() !== ''

/**
 * Makes the first message after a question its answer, instead of a message that waits for the end of the run. Returns whether
 * there was one.
 */
export async function takeAnswer(
  { chat }: ChatPlace,
  run: RunRow,
  open: readonly IncomingRow[],
  { database, store }: Pick<QuestionDependencies, 'database' | 'store'>,
): Promise<boolean> {
  const [question, ...others] = (await store.runInputs.pending([run.id])).get(run.id) ?? []
  if (question === undefined || others.length > 0 || askedField(question) === null) return false
  const part = await store.parts.findByReference(
    chat.id,
    questionReference(run.id, question.id_ref),
  )
  // Until it has arrived, nobody can answer it.
  if (part?.status !== 'delivered') return false
  const row = open.find((one) => {
    const content = contentOf(one)
    return (
      one.kind === 'message' &&
      one.state === 'waiting' &&
      one.createdAt > part.createdAt &&
      content !== null &&
      isPlain(content)
    )
  })
  const content = row === undefined ? null : contentOf(row)
  const stored = await store.runInputs.find(run.id, question.id_ref)
  if (row === undefined || content === null || stored === undefined) return false
  const { callHash } = stored
  const answers = { runId: run.id, idRef: question.id_ref, callHash }
  const changed = await database.write((tx) =>
    store.receiving.changeIncoming(tx, [row.position], ['waiting'], {
      kind: 'decision',
      content: { ...content, answers },
    }),
  )
  return changed.length > 0
}

/** Answers a question with what the person wrote. Returns what to say; null for nothing. */
export async function answerQuestion(
  place: ChatPlace,
  row: IncomingRow,
  { text, answers }: Pick<IncomingContent, 'text' | 'answers'>,
  dependencies: QuestionDependencies,
): Promise<string | null> {
  if (answers === undefined) return null
  const { store } = dependencies
  const runId = RunId.parse(answers.runId)
  const stored = await store.runInputs.find(runId, answers.idRef)
  const asked = stored === undefined ? null : askedField(stored.question)
  const { chat: texts } = localeTexts(textLanguage(text), 'messages')
  if (asked === null) return texts.nothingWaits
  // In a group it begins with the name of the bot.
  const said = text.trim().replace(/^@\w+\s+/, '')
  const value = valueIn(asked.field, said)
  if (value === undefined) return filled(texts.answerUnfit, { hint: answerHint(asked, texts) })
  return await give(
    place,
    row,
    {
      runId,
      body: {
        id_ref: answers.idRef,
        action: 'accept',
        content: { [asked.name]: value },
        call_hash: answers.callHash ?? undefined,
      },
      unfit: filled(texts.answerUnfit, { hint: answerHint(asked, texts) }),
    },
    dependencies,
  )
}

/** Refuses the one question that a run waits for. Returns whether there is one, and what to say. */
export async function rejectQuestion(
  place: ChatPlace,
  row: IncomingRow,
  runId: RunId,
  dependencies: QuestionDependencies,
): Promise<{ isOne: boolean; said: string | null }> {
  const [question, ...others] =
    (await dependencies.store.runInputs.pending([runId])).get(runId) ?? []
  if (question === undefined || others.length > 0) return { isOne: false, said: null }
  const body = { id_ref: question.id_ref, action: 'decline' as const, call_hash: undefined }
  return { isOne: true, said: await give(place, row, { runId, body, unfit: '' }, dependencies) }
}

/** Gives an answer in the name of the person; again after a crash changes nothing. */
async function give(
  { chat, channel }: ChatPlace,
  row: IncomingRow,
  { runId, body, unfit }: { runId: RunId; body: InputAnswerBody; unfit: string },
  { store, answer }: QuestionDependencies,
): Promise<string | null> {
  const sender =
    row.senderId === null ? undefined : await store.receiving.findSender(channel.id, row.senderId)
  const actor = await actorIn({ chat, channel }, sender?.externalId ?? '', store)
  try {
    await answer(chat.userId, runId, body, actor)
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.reason === 'input_content_invalid') return unfit
    const stored = await store.runInputs.find(runId, body.id_ref)
    // This answer, before the server ended.
    if (stored?.decidedThrough === doorOf(channel) && row.startedAt !== null) {
      if (stored.decidedAt !== null && stored.decidedAt >= row.startedAt) return null
    }
    const { chat: texts } = localeTexts(textLanguage(contentOf(row)?.text ?? ''), 'messages')
    return filled(texts.notDecided, { detail: error.message })
  }
}
