// Views that load when they first open, together with their texts.
import { type ComponentType, lazy } from 'react'
import { loadPageTexts } from '../lib/i18n/i18n.ts'

/** Like `lazy`, for a named export. Call `load` early to prefetch the code. */
export const lazyView = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => {
    const [view] = await Promise.all([load(), loadPageTexts()])
    return { default: view }
  })
