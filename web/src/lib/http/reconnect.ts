// The wait before reconnecting after a lost connection.

/** Resolves after `ms`, or as soon as the network is back or the page becomes visible. */
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
