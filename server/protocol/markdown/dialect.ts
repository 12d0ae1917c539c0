// The Markdown that models write: GitHub's, with rules that suit Chinese, Japanese and Korean.
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly'

/** Options of the GitHub extension. A single tilde is no strikethrough, because it stands between the ends of a range: 3~5. */
export const GFM_OPTIONS = { singleTilde: false } as const

/**
 * Lets emphasis begin and end beside the punctuation of these languages, as in `**注意：**请`. CommonMark does not, because
 * it expects a space after such punctuation: https://github.com/commonmark/commonmark-spec/issues/650.
 */
export const cjkEmphasis = cjkFriendlyExtension()
