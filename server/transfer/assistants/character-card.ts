// Reads character cards of the versions 1 to 3: JSON alone, in a picture (PNG), or in an archive (CHARX).
import { z } from 'zod'
import { createDraft, type DraftWriter } from './draft.ts'
import { listOf, text, within } from './lenient.ts'

const Entry = within({
  keys: listOf(z.string()),
  content: text,
  name: text,
  comment: text,
  enabled: z.boolean().catch(true),
})
const Card = z.looseObject({
  name: z.string(),
  nickname: text,
  description: text,
  personality: text,
  scenario: text,
  first_mes: text,
  mes_example: text,
  creator_notes: text,
  system_prompt: text,
  post_history_instructions: text,
  alternate_greetings: listOf(z.string()),
  group_only_greetings: listOf(z.string()),
  character_book: within({ entries: listOf(Entry) }),
  assets: listOf(within({ type: text, uri: text, name: text })),
})
const Versioned = z.looseObject({
  spec: z.string().regex(/^chara_card_v\d/),
  data: z.looseObject({ name: z.string() }),
})
/** Version 1 has no mark; these fields are all mandatory in it. */
const Unversioned = z.looseObject({
  name: z.string(),
  description: z.string(),
  personality: z.string(),
  scenario: z.string(),
  first_mes: z.string(),
  mes_example: z.string(),
})

/** Whether an entry is a card. */
export const isCharacterCard = (entry: unknown): boolean =>
  Versioned.safeParse(entry).success || Unversioned.safeParse(entry).success

/** A draft of a card, and the address of its main icon. */
export function readCharacterCard(entry: unknown): { writer: DraftWriter; image: string | null } {
  const versioned = Versioned.safeParse(entry)
  const card = Card.parse(versioned.success ? versioned.data.data : entry)
  const filled = fillIn(card.nickname?.trim() || card.name)
  const writer = createDraft('?')
  writer.name(card.name)
  writer.description(card.creator_notes)
  const parts = [
    // In a card it stands for the prompt of the program, to which a card can only add here.
    section('', card.system_prompt?.replaceAll(/\{\{\s*original\s*\}\}/gi, '')),
    section('', card.description),
    section('Personality', card.personality),
    section('Scenario', card.scenario),
    section('Examples of dialogue', card.mes_example?.replaceAll(/<START>/gi, '---')),
    section('How you begin the conversation', card.first_mes),
    section('', card.post_history_instructions),
  ]
  writer.instructions(filled(parts.filter((part) => part !== '').join('\n\n')))
  if (card.first_mes?.trim()) writer.note('greeting', 'changed', 'in_instructions')
  if (card.mes_example?.trim()) writer.note('examples', 'changed', 'in_instructions')
  const greetings = [...card.alternate_greetings, ...card.group_only_greetings]
  if (greetings.length > 0)
    writer.note('greetings', 'left_out', 'no_counterpart', String(greetings.length))
  const entries = card.character_book.entries.filter(({ enabled }) => enabled)
  writer.book(
    'lorebook.md',
    entries.map(({ keys, content = '', name, comment }) => ({
      heading: filled(
        [name?.trim() || comment?.trim() || '', ...keys.slice(0, 20)]
          .filter((one) => one !== '')
          .join(', '),
      ),
      text: filled(content),
    })),
  )
  const icons = card.assets.filter(({ type }) => type === 'icon')
  const icon = icons.find(({ name }) => name === 'main') ?? icons[0]
  return { writer, image: icon?.uri ?? 'ccdefault:' }
}

/** Replaces what cards write for the two who talk. */
const fillIn = (name: string) => (content: string) =>
  content
    .replaceAll(/\{\{\s*char\s*\}\}|<(?:BOT|CHAR)>/gi, () => name)
    .replaceAll(/\{\{\s*user\s*\}\}|<USER>/gi, 'the user')

function section(heading: string, content = ''): string {
  const clean = content.trim()
  if (clean === '') return ''
  return heading === '' ? clean : `# ${heading}\n\n${clean}`
}
