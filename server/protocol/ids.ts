// The branded identifiers; on the wire they are plain strings.
import { z } from 'zod'

const id = () => z.string().min(1).max(64)

/** An account. In single-user mode there is one. */
export const UserId = id().brand<'UserId'>()
/** The id of an account. */
export type UserId = z.infer<typeof UserId>

/** A conversation: the tree of messages and its settings. */
export const ConversationId = id().brand<'ConversationId'>()
/** The id of a conversation. */
export type ConversationId = z.infer<typeof ConversationId>

/** A message: one node of the tree of its conversation. */
export const MessageId = id().brand<'MessageId'>()
/** The id of a message. */
export type MessageId = z.infer<typeof MessageId>

/** A run: one answer being produced. */
export const RunId = id().brand<'RunId'>()
/** The id of a run. */
export type RunId = z.infer<typeof RunId>

/** A project, and the name of its folder in the workspace. */
export const ProjectId = id().brand<'ProjectId'>()
/** The id of a project. */
export type ProjectId = z.infer<typeof ProjectId>

/** An uploaded file that messages may use. */
export const FileId = id().brand<'FileId'>()
/** The id of an uploaded file. */
export type FileId = z.infer<typeof FileId>

/** An export or import. */
export const TransferId = id().brand<'TransferId'>()
/** The id of an export or import. */
export type TransferId = z.infer<typeof TransferId>

/** The model's id of one tool call; `id_ref` on the wire. Bounded, but never trusted, because the model chooses it. */
export const CallId = z.string().min(1).max(200).brand<'CallId'>()
/** A model's id for one of its tool calls. */
export type CallId = z.infer<typeof CallId>
