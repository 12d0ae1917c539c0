// The actions of the composer's buttons and menus.

import { type RefObject, useMemo } from 'react'
import { useNewest } from '../../../lib/newest.ts'
import type { ComposerActions } from './composer-tools.tsx'
import type { useComposerText } from './use-composer-text.ts'

/** Returns the same object in every render. `onSuggest` is called before suggestions open. */
export function useComposerActions(
  picker: RefObject<HTMLInputElement | null>,
  { insert, newestText }: Pick<ReturnType<typeof useComposerText>, 'insert' | 'newestText'>,
  onSuggest: () => void,
): ComposerActions {
  const suggest = useNewest(onSuggest)
  return useMemo(
    () => ({
      // One input serves both: with `capture`, phones open the camera.
      pick(from) {
        const input = picker.current
        if (input === null) return
        input.accept = from === 'camera' ? 'image/*' : ''
        if (from === 'camera') input.setAttribute('capture', 'environment')
        else input.removeAttribute('capture')
        input.click()
      },
      openCommands() {
        suggest.current()
        insert.current('/', 0, 0)
      },
      openMentions() {
        const { current } = newestText
        suggest.current()
        insert.current(/\S$/.test(current) ? ' @' : '@', current.length, current.length)
      },
      append: (added) =>
        insert.current(added, newestText.current.length, newestText.current.length),
    }),
    [picker, insert, newestText],
  )
}
