// Random conversations in export format, for round trips.
import type { Random } from '../random.ts'

/** Texts that must never become markup. */
export const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '[link](javascript:alert(1))',
  '![image](https://tracker.example/pixel.png)',
  '<svg/onload=alert(1)>',
  '</pre></p></article><script>alert(1)</script>',
  '``` \n</code></pre><script>alert(1)</script>',
  '<https://example.com/"onmouseover="alert(1)>',
  '```\n````\n~~~',
  '\u202egnp.exe 中文 日本語 한국어 🦀',
]

/** A conversation in export format, with random branches, steps and attachments. */
export function randomConversation(
  random: Random,
  images: readonly string[] = [Buffer.from('no image').toString('base64')],
) {
  const text = (): string => `${random.pick(hostile)} ${random.below(1_000_000)}`
  const time = (): string => new Date(1_700_000_000_000 + random.below(1_000_000_000)).toISOString()
  const ids: string[] = []
  const messages = Array.from({ length: random.below(30) }, (_, at) => {
    const id = `m${at}`
    const parent = at === 0 || random.below(10) === 0 ? null : random.pick(ids)
    ids.push(id)
    const role = random.pick(['user', 'assistant'])
    return {
      id,
      parent_id: parent,
      role,
      text: random.below(20) === 0 ? text().repeat(10_000) : text(),
      token_count: random.below(1_000),
      model: role === 'user' ? null : 'a model',
      status: random.pick(['completed', 'stopped', 'failed', 'interrupted']),
      error: random.below(5) === 0 ? text() : null,
      created_at: time(),
      attachments:
        role === 'assistant'
          ? []
          : Array.from({ length: random.below(3) }, () =>
              random.below(2) === 0
                ? { name: text(), extension: 'txt', content: text() }
                : {
                    name: text(),
                    mime: 'image/png',
                    data: random.pick(images),
                  },
            ),
      steps:
        role === 'user'
          ? []
          : Array.from({ length: random.below(6) }, (__, index) => randomStep(random, index, text)),
    }
  })
  return {
    format: 'nanoclaw',
    version: 1,
    conversation: {
      title: random.below(4) === 0 ? '' : text(),
      model: null,
      system_prompt: random.below(2) === 0 ? null : text(),
      temperature: random.below(2) === 0 ? null : 0.5,
      max_tokens: random.below(2) === 0 ? null : 1 + random.below(1_000),
      thinking_enabled: random.below(2) === 0,
      pinned: random.below(2) === 0,
      archived: random.below(2) === 0,
      leaf_id: ids.length === 0 ? null : random.pick(ids),
      created_at: time(),
      updated_at: time(),
      tags: random.below(2) === 0 ? [] : ['work', `tag ${random.below(100)}`],
    },
    messages,
  }
}

function randomStep(random: Random, index: number, text: () => string): Record<string, unknown> {
  const place = { id: `step-${index}`, index }
  const type = random.pick(['thinking', 'text', 'tool_call', 'tool_result'])
  if (type === 'thinking' || type === 'text') return { ...place, type, content: text() }
  const call = { ...place, type, id_ref: `call_${index}`, name: 'calculator' }
  if (type === 'tool_call') return { ...call, arguments: text() }
  const artifact = { display: text(), diff: text(), extra: [1, { deep: null }] }
  return {
    ...call,
    content: text(),
    skipped: random.below(2) === 0,
    ...(random.below(2) === 0 ? { artifact } : {}),
  }
}

/** The same conversation with its ids replaced by numbers in message order. */
export function withoutIds(exported: ReturnType<typeof randomConversation>): unknown {
  const at = new Map(exported.messages.map(({ id }, index) => [id, `m${index}`]))
  const name = (id: string | null): string | null => (id === null ? null : (at.get(id) ?? id))
  return {
    ...exported,
    conversation: {
      ...exported.conversation,
      id: undefined,
      leaf_id: name(exported.conversation.leaf_id),
    },
    messages: exported.messages.map((message) => ({
      ...message,
      id: name(message.id),
      parent_id: name(message.parent_id),
    })),
  }
}
