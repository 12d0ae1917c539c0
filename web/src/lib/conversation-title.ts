// The title of a conversation on the page.
import type { TFunction } from 'i18next'

/** What the server or another client stores until there is a real title. */
const PLACEHOLDER_TITLES: readonly string[] = ['New conversation', '新对话']

/** The title, or a text in the page's language while there is none. */
export const conversationTitle = (title: string, t: TFunction): string =>
  title === '' || PLACEHOLDER_TITLES.includes(title) ? t('conversation.untitled') : title
