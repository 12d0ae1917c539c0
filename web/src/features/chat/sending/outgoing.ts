// Messages on their way to the server: shown in the conversation from the moment they are sent.
import { create } from 'zustand'
import type { ChosenFile } from '../attachments/attachments.ts'

/** A sent message that the server has not accepted yet. */
export type Outgoing = {
  clientId: string
  text: string
  files: readonly ChosenFile[]
  /** The id of its stored message; null until the server has accepted it. */
  messageId: string | null
}

type Outgoings = Readonly<Record<string, Outgoing>>

/** At most one per draft: what is sent meanwhile waits in the queue. The key of a draft is that of its composer. */
const useOutgoings = create<{ byDraft: Outgoings }>(() => ({ byDraft: {} }))

/** The message on its way that was written as this draft; null if there is none. */
export const useOutgoing = (draftKey: string): Outgoing | null =>
  useOutgoings(({ byDraft }) => byDraft[draftKey] ?? null)

/** As `useOutgoing`, outside of components. */
export const outgoingOf = (draftKey: string): Outgoing | null =>
  useOutgoings.getState().byDraft[draftKey] ?? null

/** Shows the message. */
export const showOutgoing = (draftKey: string, outgoing: Outgoing): void =>
  useOutgoings.setState(({ byDraft }) => ({ byDraft: { ...byDraft, [draftKey]: outgoing } }))

const remove = (clientId: string): void =>
  useOutgoings.setState(({ byDraft }) => ({
    byDraft: Object.fromEntries(
      Object.entries(byDraft).filter(([, outgoing]) => outgoing.clientId !== clientId),
    ),
  }))

/** Hides a message that was refused or queued. One that was accepted stays until its stored message is shown. */
export function hideOutgoing(draftKey: string, clientId: string): void {
  const outgoing = outgoingOf(draftKey)
  if (outgoing?.clientId === clientId && outgoing.messageId === null) remove(clientId)
}

/** The message has been stored as `messageId`, and this message is in the cache. */
export function acceptOutgoing(clientId: string, messageId: string | null): void {
  useOutgoings.setState(({ byDraft }) => ({
    byDraft: Object.fromEntries(
      Object.entries(byDraft).map(([key, outgoing]) => [
        key,
        outgoing.clientId === clientId ? { ...outgoing, messageId } : outgoing,
      ]),
    ),
  }))
  // The cache tells its views in a timer, which is due before this one.
  setTimeout(() => remove(clientId))
}

/** An answer that has begun. `parent`: the answer that it replaces; null if it answers a new message. */
type BegunAnswer = { conversationId: string; parent: string | null; answer: string }

const receivers = new Set<(begun: BegunAnswer) => void>()

/** Calls `receive` whenever an answer has begun on this page. */
export const receiveAnswers = (receive: (begun: BegunAnswer) => void): void =>
  void receivers.add(receive)

/** Reports that an answer has begun. */
export function announceAnswer(begun: BegunAnswer): void {
  for (const receive of receivers) receive(begun)
}
