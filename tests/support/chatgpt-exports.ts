// Conversations in the form of ChatGPT's export; the texts are ours.

/** A message of the tree. */
export const node = (
  id: string,
  parent: string | null,
  role: string,
  content: Record<string, unknown>,
  more: Record<string, unknown> = {},
) => ({
  id,
  parent,
  children: [],
  message: {
    id,
    author: { role, name: role === 'tool' ? 'python' : null },
    create_time: 1756000000.5,
    content,
    recipient: 'all',
    metadata: {},
    ...more,
  },
})
/** The content of a message that is only text. */
export const said = (text: string) => ({ content_type: 'text', parts: [text] })
/** A conversation whose shown branch ends at `leaf`. */
export const chatGpt = (id: string, nodes: ReturnType<typeof node>[], leaf: string) => ({
  title: `Chat ${id}`,
  create_time: 1756000000.123,
  update_time: 1756000400.654,
  conversation_id: id,
  default_model_slug: 'gpt-5',
  current_node: leaf,
  mapping: Object.fromEntries([
    ['root', { id: 'root', message: null, parent: null, children: [] }],
    ...nodes.map((one) => [one.id, one]),
  ]),
})
/** A question and its answer. */
export const simple = (id: string) =>
  chatGpt(
    id,
    [node('u', 'root', 'user', said('Hi')), node('a', 'u', 'assistant', said('Hello'))],
    'a',
  )
