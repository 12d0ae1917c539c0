// Whether the conversation of a run contains text from outside, and which web addresses it knows.

import { Parser } from 'htmlparser2'
import { z } from 'zod'
import type { Store } from '../../db/store.ts'
import { createTurns } from '../../lib/turns.ts'
import { addressesIn, hostOf, webAddress } from '../../lib/web-addresses.ts'
import type { ConversationId } from '../../protocol/ids.ts'
import type { ToolSet } from '../../tools/registry.ts'
import type { CallResult } from '../../tools/tool-result.ts'
import type { RunContext } from '../context.ts'
import type { Write } from '../group-commit.ts'
import type { PerformedRun } from '../performed-run.ts'

/** Whether text from outside is in the conversation, and which addresses it knows. */
export interface Taint {
  isTainted(): boolean
  /**
   * Records a settled result. Run the returned write in the transaction that stores the result, so that text from outside
   * is never stored without its mark.
   */
  record(result: Pick<CallResult, 'untrusted' | 'call' | 'content'>): Write
  /** The web addresses that the conversation knows. */
  readonly addresses: KnownAddresses
}

const NO_WRITE: Write = async () => {}

/** Resolves once the conversation is marked as tainted, if the run's context contains text from outside. */
export async function createTaint(performed: PerformedRun, context: RunContext): Promise<Taint> {
  const { run, writes } = performed
  const { store } = performed.dependencies
  let tainted = context.conversation.tainted || context.holdsOutsideText
  const mark: Write = (tx) => store.conversations.markTainted(tx, run.conversationId)
  if (context.holdsOutsideText && !context.conversation.tainted) await writes.commit(mark)
  const addresses = createKnownAddresses({
    store,
    conversationId: run.conversationId,
    texts: context.personTexts,
    tools: context.allTools,
    retry: performed.retry,
  })
  return {
    isTainted: () => tainted,
    addresses,
    record(result) {
      addresses.record(result)
      if (!result.untrusted) return NO_WRITE
      tainted = true
      // Every such result writes the mark, because the write of an earlier result may still fail.
      return mark
    },
  }
}

/** The addresses that people, instructions and results of tools have named in a conversation. */
interface KnownAddresses {
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
/** A failed, rejected or skipped call: what it says about its arguments may be the model's own words. */
const FAILED = '{"success":false'

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
  /** Handles of long results that name addresses, each with those that the model wrote itself. */
  const handles = new Map<string, IsOwn>()
  const waiting: NamedResult[] = []
  const turn = createTurns()
  const isFull = (): boolean => known.size >= MAX_ADDRESSES

  async function addText(
    text: string,
    { isPersons = false, isOwn = () => false }: { isPersons?: boolean; isOwn?: IsOwn } = {},
  ): Promise<void> {
    for (const some of addressesIn(text, { bare: isPersons })) {
      for (const address of some) {
        if (isFull()) return
        if (known.has(address) || isOwn(address)) continue
        known.add(address)
        hosts.add(hostOf(address))
      }
      await turn()
    }
  }

  async function addResult({ name, arguments: given, content }: NamedResult): Promise<void> {
    if (isFull() || content.startsWith(FAILED)) return
    const isOwn = await ownOf(name, given)
    if (isOwn === null) return
    const handle = handleOf(content)
    if (handle !== null) handles.set(handle, isOwn)
    await addText(content, { isOwn })
  }

  /**
   * Which addresses in a tool's result the model may have written itself; null for all. A program that the model wrote can
   * print anything; people see the command of a shell before it runs. A built-in tool may repeat its arguments, and any other tool may put together what they say.
   */
  async function ownOf(name: string, given: string): Promise<IsOwn | null> {
    const tool = tools.get(name)
    const isForeign = tool === undefined || tool.category === 'mcp'
    if (name === 'result_read') {
      const { data } = ReadArguments.safeParse(parsedJson(given))
      return (data === undefined ? undefined : handles.get(data.handle)) ?? null
    }
    if (!isForeign && !tool.namesAddresses) return null
    return await writtenIn(given, isForeign, turn)
  }

  async function load(): Promise<void> {
    for (const text of dependencies.texts) await addText(text, { isPersons: true })
    let before: number | null = null
    for (let page = 0; page < MAX_PAGES && !isFull(); page += 1) {
      const { items, next } = await retry(() => store.addressTexts.list(conversationId, before))
      for (const item of items) {
        if (item.kind === 'question') await addText(item.content, { isPersons: true })
        else await addResult(item)
      }
      if (next === null) break
      before = next
    }
  }

  let isLoaded = false
  let work: Promise<void> = Promise.resolve()
  /** Resolves when everything that was recorded so far is known. One at a time. */
  const ready = (): Promise<void> => {
    work = work
      // Whoever waited for it has learned of the failure; now it is tried again.
      .catch(() => undefined)
      .then(async () => {
        if (!isLoaded) await load()
        isLoaded = true
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
          await addResult(next)
      })
    return work
  }

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
      waiting.push({ name: call.name, arguments: call.arguments, content })
    },
  }
}

/** Whether the model may have written this address itself. */
type IsOwn = (address: string) => boolean

/**
 * The addresses that the arguments of a call contain, in whatever spelling; for a foreign tool, which may put addresses
 * together, all addresses of the hosts that they name.
 */
async function writtenIn(
  given: string,
  isForeign: boolean,
  turn: () => Promise<void> | undefined,
): Promise<IsOwn> {
  const texts = new Set<string>()
  for (const spelling of spellingsOf(given)) {
    texts.add(spelling)
    await turn()
  }
  const addresses = new Set<string>()
  const hosts = new Set<string>()
  for (const text of texts)
    for (const some of addressesIn(text, { bare: isForeign })) {
      for (const address of some) {
        addresses.add(address)
        hosts.add(hostOf(address))
      }
      await turn()
    }
  if (!isForeign) return (address) => addresses.has(address)
  const all = [...texts].join('\n').toLowerCase()
  return (address) => {
    const host = hostOf(address)
    return hosts.has(host) || all.includes(host)
  }
}

/** Everything that the arguments of a call say, as it stands and decoded. */
function* spellingsOf(given: string): Generator<string> {
  const value = parsedJson(given)
  yield value === undefined ? given : JSON.stringify(value)
  for (const leaf of value === undefined ? [given] : leavesOf(value)) {
    yield leaf
    yield withoutEscapes(leaf)
    // As a shell reads it.
    yield leaf.replaceAll(/['"\\]/g, '')
    yield percentDecoded(leaf)
    yield htmlDecoded(leaf)
    // URL parsing accepts forms that do not look like an address.
    yield webAddress(leaf.trim()) ?? ''
  }
}

/** The names and strings in a JSON value. */
function leavesOf(value: unknown): string[] {
  const found: string[] = []
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') found.push(next)
    else if (typeof next === 'object' && next !== null)
      for (const [name, inner] of Object.entries(next)) {
        found.push(name)
        left.push(inner)
      }
  }
  return found
}

/** JSON within a string. */
const withoutEscapes = (text: string): string =>
  text.replaceAll(/\\(?:u([\da-f]{4})|(["\\/]))/gi, (_all, code?: string, mark?: string) =>
    code === undefined ? (mark ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  )

const percentDecoded = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })

function htmlDecoded(text: string): string {
  if (!text.includes('&')) return text
  const pieces: string[] = []
  const parser = new Parser({ ontext: (piece) => pieces.push(piece) }, { decodeEntities: true })
  // Text alone: no address contains the mark with which a tag begins.
  parser.end(text.replaceAll('<', ' '))
  return pieces.join('')
}

const ReadArguments = z.object({ handle: z.string() })
const LongResult = z.object({ data: z.object({ handle: z.string(), truncated: z.literal(true) }) })

/** The handle of a result that was too long; null for any other. */
function handleOf(content: string): string | null {
  if (!content.includes('"truncated":true')) return null
  return LongResult.safeParse(parsedJson(content)).data?.data.handle ?? null
}

/** Undefined for anything but JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
