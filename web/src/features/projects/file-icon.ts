// The icon of a file by the ending of its name, so that a list can be read at a glance.
import {
  File,
  FileArchive,
  FileCode,
  FileHeadphone,
  FileImage,
  FilePlay,
  FileSpreadsheet,
  FileText,
  type LucideIcon,
  Presentation,
} from 'lucide-react'

const ICONS: readonly (readonly [LucideIcon, string])[] = [
  [FileText, 'md markdown txt rst adoc tex pdf doc docx odt rtf epub'],
  [FileSpreadsheet, 'csv tsv xls xlsx ods'],
  [Presentation, 'ppt pptx odp'],
  [FileImage, 'png jpg jpeg gif webp avif heic svg bmp ico tif tiff'],
  [FileArchive, 'zip gz tgz tar bz2 xz 7z rar zst'],
  [FileHeadphone, 'mp3 wav flac ogg m4a opus'],
  [FilePlay, 'mp4 mov webm mkv avi'],
  [
    FileCode,
    'c cc cpp cs css go h hpp html ipynb java js json jsx kt lua mjs php pl py r rb rs scala sh sql swift toml ts tsx vue xml yaml yml',
  ],
]

const iconOfEnding = new Map(
  ICONS.flatMap(([icon, endings]) => endings.split(' ').map((ending) => [ending, icon] as const)),
)

/** The icon of the file `name`; the plain one for an unknown ending. */
export const fileIcon = (name: string): LucideIcon =>
  iconOfEnding.get(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? File
