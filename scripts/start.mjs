// The program by its earlier name, for services that name this file.
import '../bin/nanoclaw.mjs'
