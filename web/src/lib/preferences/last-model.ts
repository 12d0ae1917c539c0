// The model that was chosen last, with which the next new chat begins.
const STORAGE_KEY = 'nanoclaw.model'

export const readLastModel = (): string | null => {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    return null // storage blocked: new chats begin with the default model
  }
}

export const writeLastModel = (id: string): void => {
  try {
    localStorage.setItem(STORAGE_KEY, id)
  } catch {
    // storage blocked: the choice holds for this chat only
  }
}
