// A QR code as a single path, dark on white in every theme because scanners need that.
import { useQuery } from '@tanstack/react-query'

/** `label` is the text for screen readers. The library loads with the first code. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = useQuery({
    queryKey: ['qr-code', text],
    queryFn: async () => {
      const { encode } = await import('uqr')
      const { data, size } = encode(text, { border: 2 })
      const path = data
        .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
        .join('')
      return { path, size }
    },
    staleTime: Number.POSITIVE_INFINITY,
    // The code contains a secret.
    gcTime: 0,
  })
  if (code.data === undefined) return null
  const { path, size } = code.data
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      className="size-48 self-center rounded-lg bg-white"
    >
      <path d={path} fill="#000" />
    </svg>
  )
}
