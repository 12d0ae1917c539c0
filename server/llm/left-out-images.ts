// The note that stands in a user message for images that the model cannot see.

/** The message's text with the note below it. */
export const withImagesNote = (content: string, images: number): string =>
  `${content}\n\n[${images} attached image(s) left out: this model does not accept images]`.trimStart()
