// Replaces `react-style-singleton`, which Radix uses, because its `<style>` elements violate the content security policy.
// The build aliases the package to this file.
import { useEffect } from 'react'

interface Props {
  styles: string
  /** Whether changed styles apply at once; otherwise those of the first mount stay. */
  dynamic?: boolean
}

/** Returns a component that adds its styles to the document while at least one instance is mounted. */
export function styleSingleton() {
  let users = 0
  const sheet = new CSSStyleSheet()

  return function AdoptedStyle({ styles, dynamic = false }: Props): null {
    // biome-ignore lint/correctness/useExhaustiveDependencies: same as in the package, see `dynamic`.
    useEffect(() => {
      if (users === 0) {
        sheet.replaceSync(styles)
        document.adoptedStyleSheets.push(sheet)
      }
      users += 1
      return () => {
        users -= 1
        if (users === 0)
          document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)
      }
    }, [styles && dynamic])
    return null
  }
}
