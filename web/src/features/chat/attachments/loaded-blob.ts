// Loads a file of the server through fetch, because `img` and `audio` cannot send the authorization header.
import { useEffect, useEffectEvent, useState } from 'react'
import { send } from '../../../lib/http/api-client.ts'

/**
 * An object URL of the file; null until it has loaded, and without an address.
 * @param onFailure is called with the error if it cannot be loaded.
 */
export function useLoadedBlob(
  url: string | null,
  onFailure?: (problem: unknown) => void,
): string | null {
  const [source, setSource] = useState<string | null>(null)
  const fail = useEffectEvent((problem: unknown) => onFailure?.(problem))
  useEffect(() => {
    if (url === null) return
    const controller = new AbortController()
    let address: string | null = null
    void send(url, { signal: controller.signal })
      .then(async (response) => {
        const content = await response.blob()
        if (controller.signal.aborted) return
        address = URL.createObjectURL(content)
        setSource(address)
      })
      // What fails to load leaves its space empty; its name is still shown.
      .catch((problem: unknown) => {
        setSource(null)
        if (!controller.signal.aborted) fail(problem)
      })
    return () => {
      controller.abort()
      if (address !== null) URL.revokeObjectURL(address)
    }
  }, [url])
  return source
}
