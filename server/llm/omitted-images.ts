// The note that replaces images in a user message when the model does not accept images.

/** Appends the note to the text of a message. */
export const withImagesNote = (content: string, images: number): string =>
  `${content}\n\n[${images} attached image(s) omitted: this model does not accept images]`.trimStart()
