// Which attached files are recordings: people hear them on the page, and models are told that they cannot.

/** Whether a stored file is a recording, by its media type. */
export const isRecording = (mime: string): boolean => mime.startsWith('audio/')
