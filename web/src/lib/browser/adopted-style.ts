// What Radix uses instead of `react-style-singleton`: a stylesheet for as long as a component needs it, without a `<style>`
// element, which the content security policy forbids. The build puts it in the package's place.
import { useEffect } from 'react'

interface Props {
  styles: string
  /** Whether changed styles apply at once; else those of the first component do. */
  dynamic?: boolean
}

/** A component that adds its styles to the document while at least one of it is mounted. */
export function styleSingleton() {
  let users = 0
  const sheet = new CSSStyleSheet()

  return function AdoptedStyle({ styles, dynamic = false }: Props): null {
    // biome-ignore lint/correctness/useExhaustiveDependencies: as the package does it, see `dynamic`.
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
