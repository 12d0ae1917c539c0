// The branded identifiers; on the wire they are plain strings.
import { z } from 'zod'

const id = () => z.string().min(1).max(64)

/** The id of an account. In single-user mode there is one. */
export const UserId = id().brand<'UserId'>()
export type UserId = z.infer<typeof UserId>

/** The id of a conversation: the tree of messages and its settings. */
export const ConversationId = id().brand<'ConversationId'>()
export type ConversationId = z.infer<typeof ConversationId>

/** The id of a message: one node of the tree of its conversation. */
export const MessageId = id().brand<'MessageId'>()
export type MessageId = z.infer<typeof MessageId>

/** The id of a run: one answer being produced. */
export const RunId = id().brand<'RunId'>()
export type RunId = z.infer<typeof RunId>

/** The id of a project, which is also the name of its folder in the workspace. */
export const ProjectId = id().brand<'ProjectId'>()
export type ProjectId = z.infer<typeof ProjectId>

/** The id of an uploaded file that messages may use. */
export const FileId = id().brand<'FileId'>()
export type FileId = z.infer<typeof FileId>

/** The id of an export or import. */
export const TransferId = id().brand<'TransferId'>()
export type TransferId = z.infer<typeof TransferId>

/** The model's id of one tool call; `id_ref` on the wire. Bounded, but never trusted, because the model chooses it. */
export const CallId = z.string().min(1).max(200).brand<'CallId'>()
export type CallId = z.infer<typeof CallId>
