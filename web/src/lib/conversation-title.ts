// What a conversation is called on the page.
import type { TFunction } from 'i18next'

/** What the server or another client stores until a title is made or given. */
const placeholders: readonly string[] = ['New conversation', '新对话']

/** The title, or words in the page's language while there is none. */
export const conversationTitle = (title: string, t: TFunction): string =>
  title === '' || placeholders.includes(title) ? t('conversation.untitled') : title
