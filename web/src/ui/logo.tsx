// The logo: three strokes of a claw.
/** The logo, `size` pixels wide and high. Decorative: screen readers skip it. */
export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" className="fill-accent" />
      <g fill="none" className="stroke-on-accent" strokeWidth="2.6" strokeLinecap="round">
        <path d="M9.5 23.5C7.6 17.5 9 11.4 12.6 8" />
        <path d="M15.4 24.2c-1.2-5.3-.1-11 3-15.2" />
        <path d="M21.4 23.2c-.7-4 .1-8 2.4-11.2" />
      </g>
    </svg>
  )
}
