// The displayed title of a conversation.
import type { TFunction } from 'i18next'

/** Titles that the server or another client stores until there is a real one. */
const PLACEHOLDER_TITLES: readonly string[] = ['New conversation', '新对话']

/** Whether the conversation has no title yet. */
export const isUntitled = (title: string): boolean =>
  title === '' || PLACEHOLDER_TITLES.includes(title)

/** The title, or a text in the page's language while there is none. */
export const conversationTitle = (title: string, t: TFunction): string =>
  isUntitled(title) ? t('conversation.untitled') : title
