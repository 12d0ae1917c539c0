// The icon of a project: an emoji, or an image that all members see.
import { useQuery } from '@tanstack/react-query'
import { Folder } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import type { Project } from '../../../../server/protocol/projects/project.ts'
import { send } from '../../lib/http/api-client.ts'
import { classNames } from '../../ui/class-names.ts'

/** An icon that is the id of an image instead of an emoji. */
const FILE_ID = /^[\w-]{8,}$/

/** Whether an icon is the id of an image. */
export const isImageIcon = (icon: string): boolean => FILE_ID.test(icon)

/** A place of the size of its text, so that nothing moves when the image has loaded. */
const placeClass = 'inline-block size-[1.3em] shrink-0 rounded-[0.3em] align-[-0.27em]'

/** A small image, loaded once for all its places; a folder if it cannot be loaded or shown. Says nothing: the name is beside it. */
export function ImageIcon({ id, className }: { id: string; className?: string }) {
  const [isBroken, setBroken] = useState(false)
  const image = useQuery({
    queryKey: ['project-icon', id],
    queryFn: async ({ signal }) => (await send(`/api/files/${id}?thumb=1`, { signal })).blob(),
    // An id never gets another content.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    meta: { quiet: true },
  })
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => {
    if (image.data === undefined) return
    const address = URL.createObjectURL(image.data)
    setSource(address)
    return () => URL.revokeObjectURL(address)
  }, [image.data])
  const place = classNames(placeClass, className)
  if (isBroken || image.isError) return <Folder aria-hidden className={`${place} text-muted`} />
  if (source === null) return <span aria-hidden className={`${place} bg-sunken`} />
  return (
    <img
      src={source}
      alt=""
      draggable={false}
      className={`${place} object-cover`}
      onError={() => setBroken(true)}
    />
  )
}

/** The icon before the name, in one line of text. */
export function nameWithIcon({ icon, name }: Pick<Project, 'icon' | 'name'>): ReactNode {
  if (icon === null) return name
  if (!isImageIcon(icon)) return `${icon} ${name}`
  return (
    <>
      <ImageIcon key={icon} id={icon} /> {name}
    </>
  )
}
