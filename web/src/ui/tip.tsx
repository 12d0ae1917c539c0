// A short text shown on hover or keyboard focus.
import { Tooltip } from 'radix-ui'
import type { ReactElement } from 'react'

const noHover = (): boolean => matchMedia('(hover: none)').matches

export function Tip({
  text,
  side = 'bottom',
  children,
}: {
  text: string
  side?: 'top' | 'bottom' | 'left' | 'right'
  children: ReactElement
}) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger
        asChild
        // The keyboard asks for the name of what it has reached; a focus that the page itself has moved does not.
        onFocus={(event) => {
          if (!event.currentTarget.matches(':focus-visible') || noHover()) event.preventDefault()
        }}
      >
        {children}
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-60 max-w-72 animate-appear rounded-md bg-ink px-2 py-1 text-xs text-paper shadow-float"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
