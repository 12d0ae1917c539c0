// Components with lazy code: it loads when they are first rendered, or after the first screen.
import { type ComponentType, use } from 'react'
import { firstScreen } from '../../lib/browser/first-screen.tsx'
import { loadPart } from '../../lib/browser/load-part.ts'
import { loadPageTexts } from '../../lib/i18n/i18n.ts'

/** Functions that reset failed loads, so that the next render loads the code again. */
const failed = new Set<() => void>()

/** Makes parts whose load failed load again when they are next rendered. */
export function forgetFailedLoads(): void {
  for (const forget of failed) forget()
  failed.clear()
}

/** A component whose code loads when it is first rendered, or before that with `preload`. */
export type LazyPart<Props extends object> = ComponentType<Props> & {
  /** Loads the code. Never rejects: if that fails, the component loads it again. */
  preload(): Promise<void>
}

/**
 * Like React's `lazy` for a named export, but it retries while the connection is down, and after `forgetFailedLoads`.
 * Render it inside a `PartBoundary`, which waits for it and shows a failure.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyPart<Props> {
  let loading: Promise<ComponentType<Props>> | null = null
  /** Rendered without waiting: React shows even a settled promise's fallback first, and that for 300 ms. */
  let loaded: ComponentType<Props> | null = null
  const begin = async (): Promise<ComponentType<Props>> => {
    try {
      loaded = await loadPart(load)
      return loaded
    } catch (error) {
      failed.add(() => {
        loading = null
      })
      throw error
    }
  }
  function Part(props: Props) {
    loading ??= begin()
    const Loaded = loaded ?? use(loading)
    return <Loaded {...props} />
  }
  const preload = async (): Promise<void> => {
    loading ??= begin()
    await loading.catch(() => undefined)
  }
  return Object.assign(Part, { preload })
}

/** Loads code after the first screen. Ignores a failure: the component that needs the code loads it again. */
export const prefetch = (load: () => Promise<unknown>): void =>
  void firstScreen.then(load).catch(() => undefined)

/** A `lazyPart` that is prefetched after the first screen, so that its first use does not wait. */
export function late<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  prefetch(load)
  return lazyPart(load)
}

/** A `lazyPart` for a component that is rendered at once but invisible on the first screen: it loads after that. */
export const lastPart = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazyPart(() => firstScreen.then(load))

const withTexts =
  <View,>(load: () => Promise<View>) =>
  async (): Promise<View> => {
    const [view] = await Promise.all([load(), loadPageTexts()])
    return view
  }

/** A `lazyPart` that also loads the page's later texts. */
export const lazyView = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazyPart(withTexts(load))

/** A `lazyView` that is prefetched after the first screen. */
export const lateView = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  late(withTexts(load))
