// What a kind of channel does that also receives: a messenger, with people who write to the agent.
import type { AppError } from '../errors.ts'
import type { DescribedFailure } from '../protocol/failures/stored.ts'

/** A file that arrived with a message. */
export interface ArrivedFile {
  name: string
  /** Whether it is what the person says, rather than something that they send along. */
  isVoice?: boolean
  /** Its bytes; null if it is too large or gone. Called only for people who may write. */
  read(signal: AbortSignal): Promise<Buffer | null>
}

/** Something that a person did at a messenger, in the same words for all of them. */
export interface Arrival {
  /** Identifies it at the messenger. */
  id: string
  chat: { id: string; name: string; isPrivate: boolean }
  /** Empty for a chat without threads. */
  threadId: string
  sender: { id: string; name: string }
  text: string
  /** In a group: whether it addresses the bot. */
  isAddressed: boolean
  /** Whether its text is not the person's own: forwarded, or sent in a way in which anybody can pretend to be them. */
  isOutside: boolean
  /** What somebody else wrote and the person quotes or shares beside the text; empty for nothing. */
  quoted: string
  files: readonly ArrivedFile[]
  /** Whether it holds something of a kind that cannot be read, such as a sticker. */
  isUnread?: boolean
  /** A button that was pressed: the part that carries it. */
  decision: { part: string; choice: 'approve' | 'reject' } | null
  /** False: a stranger gets no code, because anybody could have sent it. */
  mayAnswerStranger: boolean
}

/** Where a part goes. */
export interface Destination {
  chatId: string
  threadId: string
  /** How the chat is called. */
  name?: string
  /** The message that is answered, as the messenger identifies it. */
  inReplyTo?: string | null
  /** The address of the channel, if it has one of its own. */
  address?: string | null
}

/** What was asked with a card, for programs. */
export interface CardCall {
  name: string
  riskLevel: string | null
  preview: string
  url: string | null
}

/** One thing that is sent to a chat. */
export type OutgoingPart =
  | { type: 'text'; text: string }
  | { type: 'file'; name: string; mime: string; bytes: Buffer; url: string | null }
  | {
      type: 'card'
      text: string
      call: CardCall
      approve: string | null
      reject: string | null
    }
  /** Replaces the text of a card, and removes its buttons. */
  | {
      type: 'settled'
      externalId: string | null
      text: string
      /** The card, for programs: its id and what was asked. */
      of: { id: string; call: CardCall } | null
    }
  /** The answer is complete. */
  | { type: 'end' }

/** The outcome of sending a part; `externalId`: the message that it became. */
export type PartOutcome =
  | { ok: true; externalId?: string }
  | { ok: false; failure: DescribedFailure; retry: boolean }

/** Why receiving has ended. */
export class ReceivingEnded extends Error {
  readonly state: 'conflict' | 'error' | 'connecting'
  readonly failure: DescribedFailure
  /** `error` ends it until the channel is changed; the others are tried again. */
  constructor(state: 'conflict' | 'error' | 'connecting', failure: DescribedFailure) {
    super(failure.message)
    this.state = state
    this.failure = failure
  }
}

/** The place of a channel that received before: what has arrived since then is dropped. */
export const SKIP_UNREAD = 'skip'

/** Where a messenger hands over what arrives. */
export interface Inbox {
  /** Up to where everything is stored; null at first, `SKIP_UNREAD` after a pause. */
  readonly place: string | null
  /** The address of the channel, if it has one of its own. */
  readonly address: string | null
  /**
   * Stores what has arrived, and then the place: nothing is confirmed to the messenger before. Without a place, it stays where it
   * is.
   */
  take(arrivals: readonly Arrival[], place?: string | null): Promise<void>
  /** The connection works. */
  connected(): Promise<void>
  /** Some of what came could not be read, and is left out. */
  unreadable(count: number): void
}

/** The messenger of a kind of channel. */
export interface MessengerSpecification<Settings> {
  /** The most UTF-16 units of one message. */
  maxCharacters: number
  /** What only who has the bot knows, so that it receives through one channel only; null if several may. */
  botOf(settings: Settings): string | null
  /** The sender who may write from the start, if the settings name one. */
  trustedSender?(settings: Settings): string | null
  /** Whether other programs hand over messages, with a token. */
  takesToken?: boolean
  /** Whether people can press buttons; true by default. */
  hasButtons?: boolean
  /** How many strangers are told a code within an hour, of all channels of an account; by default, each channel's own bounds hold. */
  codesPerHour?: number
  /** The address of a channel with this token, to which people write. Absent: it has none of its own. */
  addressOf?(settings: Settings, token: string): string | null
  /** Why this server can't receive with these settings; undefined if it can. */
  refuse?(settings: Settings): AppError | undefined
  /** Receives until the signal aborts. Absent: messages are handed over by HTTP. @throws ReceivingEnded */
  receive?(settings: Settings, inbox: Inbox, signal: AbortSignal): Promise<void>
  send(
    settings: Settings,
    to: Destination,
    part: OutgoingPart & { id: string },
    signal: AbortSignal,
  ): Promise<PartOutcome>
  /** Shows what is being done, or removes that with null. Returns the message that shows it now; throws if it could not be removed yet. */
  showProgress?(
    settings: Settings,
    to: Destination,
    progress: { text: string | null; externalId: string | null },
    signal: AbortSignal,
  ): Promise<string | null>
  /** Shows that an answer is being written. */
  showTyping?(settings: Settings, to: Destination, signal: AbortSignal): Promise<void>
}

/** A messenger without the type of its settings; it checks them itself. */
export type Messenger = MessengerSpecification<unknown>
