// The last chosen model, which is the initial model of the next new chat.
import { storageName } from '../base-path.ts'

const STORAGE_KEY = storageName('model')

/** The id of the last chosen model; null if none was chosen in this browser. The server may no longer offer it. */
export const readLastModel = (): string | null => {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    return null // storage is blocked: new chats begin with the default model
  }
}

/** Stores the id of the chosen model. Never throws. */
export const writeLastModel = (id: string): void => {
  try {
    localStorage.setItem(STORAGE_KEY, id)
  } catch {
    // Storage is blocked: the choice holds for this chat only.
  }
}
