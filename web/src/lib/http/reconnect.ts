// When to reconnect after a connection was lost.

/** Resolves after `ms`, or as soon as the network or the page comes back. */
export const waitToReconnect = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      if (document.visibilityState === 'hidden') return
      clearTimeout(timer)
      removeEventListener('online', wake)
      document.removeEventListener('visibilitychange', wake)
      resolve()
    }
    const timer = setTimeout(() => {
      removeEventListener('online', wake)
      document.removeEventListener('visibilitychange', wake)
      resolve()
    }, ms)
    addEventListener('online', wake)
    document.addEventListener('visibilitychange', wake)
  })
