// The web addresses that a conversation already knows, so that a model under foreign influence cannot make one up.
import type { Store } from '../../db/store.ts'
import { addressesIn, hostOf } from '../../lib/web-addresses.ts'
import type { ConversationId } from '../../protocol/ids.ts'
import type { ToolSet } from '../../tools/registry.ts'
import type { CallResult } from '../../tools/tool-result.ts'

/** The addresses that people, instructions and results of tools have named in a conversation. */
export interface KnownAddresses {
  /** Those of the addresses that nothing has named, in their order. `addresses` are in the form of `webAddress`. */
  unknown(addresses: readonly string[]): Promise<string[]>
  /** Whether any known address has this host. */
  hasHost(host: string): Promise<boolean>
  /** Takes note of a result of this run or one of its sub-agents. */
  record(result: Pick<CallResult, 'call' | 'content'>): void
}

/** A result with the call that led to it. */
interface NamedResult {
  name: string
  arguments: string
  content: string
}

/** Later ones stay unknown: a call with one of them needs approval. */
const MAX_ADDRESSES = 100_000
/** Pages of stored texts that are read, newest first. */
const MAX_PAGES = 2_000
/** Characters of texts between two turns of the event loop. */
const CHARACTERS_PER_TURN = 200_000

interface Dependencies {
  store: Pick<Store, 'addressTexts'>
  conversationId: ConversationId
  /** What people wrote that is not a message: instructions, and the contents of attached files. */
  texts: readonly string[]
  tools: Pick<ToolSet, 'get'>
  /** Repeats a read while the store is unavailable. */
  retry<T>(read: () => Promise<T>): Promise<T>
}

/** Reads nothing before it is asked. Create one per attempt of a run. */
export function createKnownAddresses(dependencies: Dependencies): KnownAddresses {
  const { store, conversationId, tools, retry } = dependencies
  const known = new Set<string>()
  const hosts = new Set<string>()
  /** Handles of long results that name addresses. */
  const handles = new Set<string>()
  const waiting: NamedResult[] = []
  let loaded: Promise<void> | undefined

  const addText = (
    text: string,
    {
      isPersons = false,
      isOwn = () => false,
    }: { isPersons?: boolean; isOwn?(host: string): boolean } = {},
  ): void => {
    for (const address of addressesIn(text, { bare: isPersons })) {
      if (known.size >= MAX_ADDRESSES) return
      const host = hostOf(address)
      if (isOwn(host)) continue
      known.add(address)
      hosts.add(host)
    }
  }

  const addResult = ({ name, arguments: given, content }: NamedResult): void => {
    const source = sourceOf(name, given)
    if (source === 'none') return
    for (const [, handle] of content.matchAll(/handle=\\*"([^"\\]{1,200})/g))
      if (handle !== undefined) handles.add(handle)
    addText(content, source === 'all' ? {} : { isOwn: writtenIn(given) })
  }

  /**
   * Which addresses in a tool's result the model has not written itself. A program that the model wrote can print
   * anything, and a tool that is not built in may repeat its arguments.
   */
  const sourceOf = (name: string, given: string): 'all' | 'others' | 'none' => {
    if (name === 'result_read')
      return [...handles].some((one) => given.includes(one)) ? 'all' : 'none'
    const tool = tools.get(name)
    if (tool === undefined || tool.category === 'mcp') return 'others'
    return tool.namesAddresses ? 'all' : 'none'
  }

  async function load(): Promise<void> {
    let characters = 0
    const pause = async (text: string): Promise<void> => {
      characters += text.length
      if (characters < CHARACTERS_PER_TURN) return
      characters = 0
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const text of dependencies.texts) {
      addText(text, { isPersons: true })
      await pause(text)
    }
    let before: number | null = null
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { items, next } = await retry(() => store.addressTexts.list(conversationId, before))
      for (const item of items) {
        if (item.kind === 'question') addText(item.content, { isPersons: true })
        else addResult(item)
        await pause(item.content)
      }
      if (next === null) break
      before = next
    }
    for (const result of waiting.splice(0)) addResult(result)
  }

  const ready = (): Promise<void> =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))

  return {
    async unknown(addresses) {
      await ready()
      return addresses.filter((address) => !known.has(address))
    },
    async hasHost(host) {
      await ready()
      return hosts.has(host.replace(/^www\./, ''))
    },
    record({ call, content }) {
      if (!content.includes('://') && !content.includes(':\\/\\/')) return
      const result = { name: call.name, arguments: call.arguments, content }
      if (loaded === undefined) waiting.push(result)
      else addResult(result)
    },
  }
}

/** Whether the arguments of a call name a host, in whatever spelling. */
function writtenIn(given: string): (host: string) => boolean {
  const text = readableArguments(given).toLowerCase()
  const hosts = new Set([...addressesIn(text, { bare: true })].map(hostOf))
  return (host) => hosts.has(host) || text.includes(host)
}

/** JSON may write any character as an escape. */
function readableArguments(given: string): string {
  try {
    return JSON.stringify(JSON.parse(given))
  } catch {
    return given
  }
}
