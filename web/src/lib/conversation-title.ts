// What a conversation is called on the page.
import type { TFunction } from 'i18next'

/** What the server stores until a title is made or given. */
const placeholder = 'New conversation'

/** The title, or words in the page's language while there is none. */
export const conversationTitle = (title: string, t: TFunction): string =>
  title === '' || title === placeholder ? t('conversation.untitled') : title
