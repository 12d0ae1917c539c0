// Parts of the page that nothing shows at first: fetched when the first screen stands, drawn from when they are first wanted.
import { type ComponentType, lazy } from 'react'
import { firstScreen } from '../lib/first-screen.tsx'

/** Like `lazy`, for a named export, and fetched ahead so that the first use need not wait. */
export function late<Props>(load: () => Promise<ComponentType<Props>>) {
  // A line that breaks here is met again, and told, when the part is wanted.
  void firstScreen.then(load).catch(() => undefined)
  return lazy(async () => ({ default: await load() }))
}
