// Views that are loaded when they are first opened, with the texts they need.
import { type ComponentType, lazy } from 'react'
import { loadPageTexts } from '../lib/i18n/i18n.ts'

/** Like `lazy`, for a named export; `load` may be called ahead to have it ready. */
export const lazyView = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async () => {
    const [view] = await Promise.all([load(), loadPageTexts()])
    return { default: view }
  })
