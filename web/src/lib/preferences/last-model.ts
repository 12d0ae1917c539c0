// The model that was chosen last, with which the next new chat begins.
const STORAGE_KEY = 'nanoclaw.model'

/** Null when none was chosen in this browser yet. The server may no longer offer it. */
export const readLastModel = (): string | null => {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    return null // storage blocked: new chats begin with the default model
  }
}

/** `id` is that of the model. Never throws. */
export const writeLastModel = (id: string): void => {
  try {
    localStorage.setItem(STORAGE_KEY, id)
  } catch {
    // storage blocked: the choice holds for this chat only
  }
}
