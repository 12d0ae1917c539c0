// The note that replaces images in a user message when the model does not accept images.

/** The text of the message with the note appended. */
export const withImagesNote = (content: string, images: number): string =>
  `${content}\n\n[${images} attached image(s) omitted: this model does not accept images]`.trimStart()
