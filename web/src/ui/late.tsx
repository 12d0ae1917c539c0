// Components that nothing shows at first: their code loads after the first screen, or when they are first needed.
import { type ComponentType, lazy } from 'react'
import { firstScreen } from '../lib/first-screen.tsx'

/** Like `lazy`, for a named export, and prefetched so that the first use need not wait. */
export function late<Props>(load: () => Promise<ComponentType<Props>>) {
  // A failed prefetch is ignored: the load is retried, and its error shown, when the component is needed.
  void firstScreen.then(load).catch(() => undefined)
  return lazy(async () => ({ default: await load() }))
}
