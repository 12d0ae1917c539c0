// The sections of a page with tabs on a narrow screen: rows that lead to them, and above a section the way back.
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { Link } from 'wouter'

/** A list of sections, all of them in view. `label` names it. */
export function SectionList({
  label,
  sections,
}: {
  label: string
  sections: readonly { href: string; title: string }[]
}) {
  return (
    <nav aria-label={label}>
      <ul className="divide-y divide-line overflow-hidden rounded-2xl border border-line bg-surface">
        {sections.map(({ href, title }) => (
          <li key={href}>
            <Link
              href={href}
              className="flex min-h-12 items-center gap-2 px-4 -outline-offset-2 hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate">{title}</span>
              <ChevronRight
                size={16}
                aria-hidden
                className="shrink-0 text-muted rtl:-scale-x-100"
              />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Leads from a section to the list of all sections, which `children` names. */
export function BackToSections({ href, children }: { href: string; children: string }) {
  return (
    <Link
      href={href}
      className="touch-target -ms-2 -mb-3 inline-flex min-h-9 items-center gap-1 self-start rounded-lg px-2 text-sm text-soft hover:bg-hover"
    >
      <ChevronLeft size={16} aria-hidden className="rtl:-scale-x-100" />
      {children}
    </Link>
  )
}
