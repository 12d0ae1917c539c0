// Which addresses from outside may become links.

/** Whether an address is one of the web. A source that was imported or that a tool returned may name any scheme. */
export const isWebAddress = (address: string): boolean => /^https?:\/\//i.test(address)
