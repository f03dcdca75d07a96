from .lab_copies import main

main()
