// Draws Lucide's icons; the build uses this instead of the function in `lucide-react` (`web/replaced-modules.ts`).
import type { LucideProps } from 'lucide-react'

interface IconData {
  name: string
  /** The width and height of the drawing. */
  size: number
  /** The shapes: the name of an SVG element, and its attributes. */
  node: readonly (readonly [string, Readonly<Record<string, string>>])[]
}

const HAS_NAME = /^(aria-(label|labelledby)|role|title)$/

/**
 * Creates the component of an icon. React manages only its `svg` element, not the shapes in it. Every message shows about a dozen
 * icons, and `lucide-react` spends three times as many components and elements on each.
 */
// biome-ignore lint/style/noDefaultExport: the icons import the default of the file that this one replaces
export default function createLucideIcon({ name, size, node }: IconData) {
  // The names and attributes come from `lucide-react`: they need no escaping.
  const shapes = node.map(([tag, attributes]) => {
    const written = Object.entries(attributes).flatMap(([key, value]) =>
      key === 'key' ? [] : [`${key}="${value}"`],
    )
    return `<${tag} ${written.join(' ')}/>`
  })
  const markup = { __html: shapes.join('') }
  const viewBox = `0 0 ${size} ${size}`
  return function Icon({ size: side = 24, className = '', ...rest }: LucideProps) {
    return (
      <svg
        xmlns="http://www.w3.org/2000/svg"
        width={side}
        height={side}
        viewBox={viewBox}
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
        className={`lucide lucide-${name} ${className}`}
        aria-hidden={Object.keys(rest).some((key) => HAS_NAME.test(key)) ? undefined : true}
        {...rest}
        // biome-ignore lint/security/noDangerouslySetInnerHtml: the markup is that of the package
        dangerouslySetInnerHTML={markup}
      />
    )
  }
}
