/* Stands in for the theme's 1.5 MB, which draws again, as SVG, the icons that its web font has. */
