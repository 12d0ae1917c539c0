// Components whose code loads late: when they are first drawn, or after the first screen.
import { type ComponentType, use } from 'react'
import { firstScreen } from '../../lib/browser/first-screen.tsx'
import { loadPart } from '../../lib/browser/load-part.ts'
import { loadPageTexts } from '../../lib/i18n/i18n.ts'

/** What could not be loaded, as functions that let it be loaded again. */
const failed = new Set<() => void>()

/** Parts that could not be loaded are loaded again when they are next drawn. */
export function forgetFailedLoads(): void {
  for (const forget of failed) forget()
  failed.clear()
}

/**
 * Like React's `lazy`, for a named export, but it tries again while the connection is away, and after `forgetFailedLoads`.
 * Draw it within a `PartBoundary`, which waits for it and shows its failure.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loading: Promise<ComponentType<Props>> | null = null
  const begin = async (): Promise<ComponentType<Props>> => {
    try {
      return await loadPart(load)
    } catch (error) {
      failed.add(() => {
        loading = null
      })
      throw error
    }
  }
  return function Part(props) {
    loading ??= begin()
    const Loaded = use(loading)
    return <Loaded {...props} />
  }
}

/** Loads code early. A failure is ignored: the code is loaded again, and its failure shown, when it is needed. */
export const prefetch = (load: () => Promise<unknown>): void =>
  void firstScreen.then(load).catch(() => undefined)

/** A `lazyPart` that is loaded after the first screen, so that its first use need not wait. */
export function late<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  prefetch(load)
  return lazyPart(load)
}

/** A `lazyPart` that is drawn at once and has nothing to show on the first screen: it loads when that is complete. */
export const lastPart = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazyPart(() => firstScreen.then(load))

const withTexts =
  <View,>(load: () => Promise<View>) =>
  async (): Promise<View> => {
    const [view] = await Promise.all([load(), loadPageTexts()])
    return view
  }

/** A `lazyPart` with texts of its own, which load with it. */
export const lazyView = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazyPart(withTexts(load))

/** A `lazyView` that is loaded after the first screen. */
export const lateView = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  late(withTexts(load))
