// What the text of an attachment may contain, and text from outside made to fit.

/** Control characters that do not occur in text files; tab, line feed, form feed, carriage return and escape do. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
const NOT_TEXT = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f\ufffd]/
/** Halves of characters, which a database cannot store, too. */
const UNSTORABLE = new RegExp(`${NOT_TEXT.source}|\\p{Surrogate}`, 'gu')

/** Whether an attachment may contain the text. */
export const isAttachable = (text: string): boolean => !NOT_TEXT.test(text)

/** The text with a space for each character that an attachment would be refused for. */
export const attachable = (text: string): string => text.replaceAll(UNSTORABLE, ' ')
